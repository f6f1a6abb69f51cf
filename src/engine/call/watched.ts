import { afterFailedCheckMs, type PollRhythm } from '../policy/poll-schedule.ts';
import type { Timed } from '../worker/timers.ts';
import type { Services } from './services.ts';
import type { LiveAttempt, SkillCall } from './types.ts';

/** A task under watch. */
export interface Watched extends Timed {
  readonly live: LiveAttempt;
  call: SkillCall | undefined;
  /** Monotonic time of the last look, or of the beginning of the watch. */
  lastLookMs: number;
  plannedMs: number;
  /** Taken up from the store: the time before is not known to have been watched. */
  readonly isRecovered: boolean;
  failedChecks: number;
  /** Status words already told. */
  unrecognised: ReadonlySet<string>;
}

/** What a look came to. `moved`: the attempt changed state. `again`: look again after so long. */
export type LookResult = { readonly kind: 'moved' } | { readonly kind: 'again'; readonly delayMs: number };

export function rhythmOf(services: Services, watched: Watched): PollRhythm {
  const { mediaClass } = watched.live.record;
  const settings = services.deps.settings.vendor_poll[mediaClass === 'free' ? 'text' : mediaClass];
  const model = watched.call?.skill.plan.candidates.find(
    (each) => each.provider === watched.live.record.provider && each.model.id === watched.live.record.model,
  )?.model;
  return { firstMs: settings.first, intervalMs: settings.interval, typicalMs: model?.typical };
}

export function againAfter(services: Services, watched: Watched, retryAfterMs: number | undefined): LookResult {
  watched.failedChecks += 1;
  return {
    kind: 'again',
    delayMs: afterFailedCheckMs(rhythmOf(services, watched), watched.failedChecks, retryAfterMs, services.deps.random),
  };
}
