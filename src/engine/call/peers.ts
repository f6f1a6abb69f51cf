import { type ExecutionId, sleep } from '../../kernel/index.ts';
import type { Services } from './services.ts';
import type { SkillCall } from './types.ts';
import { whileAway } from './read-again.ts';

const lockLookMs = 100;

/**
 * The last look before a request leaves: our sign of life is held, and the execution is still ours. False: it belongs to
 * another by now. While the sign is lost it is waited for, since nobody knows yet.
 */
export async function maySend(services: Services, id: ExecutionId, epoch: number): Promise<boolean> {
  const { peers, store, clock } = services.deps;
  if (peers === undefined) return true;
  for (;;) {
    while (!peers.isPresent()) await sleep(clock, lockLookMs, services.signal);
    const record = await whileAway(services, async () => await store.execution(id));
    if (record?.epoch !== epoch || record.owner !== services.deps.owner) return false;
    if (peers.isPresent()) return true;
  }
}

/**
 * Room at the provider and the model among all workers, after room among our own. The claim bears the call's place, not
 * this worker's name: whoever takes the execution over holds it already, and gives it back.
 */
export async function claimRooms(services: Services, call: SkillCall): Promise<boolean> {
  const rooms = services.deps.peers?.rooms;
  if (rooms === undefined) return true;
  await call.releasing;
  call.mayHoldClaim = true;
  for (const name of call.slots) {
    const cap = name.startsWith('agent:') ? undefined : services.gates.limit(name);
    if (cap === undefined) continue;
    if (!(await rooms.claim(name, cap, claimOf(call)))) return false;
  }
  return true;
}

/** A claim that cannot be given back now (the database is away) is tried again until the engine ends. */
export function releaseRooms(services: Services, call: SkillCall): void {
  const rooms = services.deps.peers?.rooms;
  if (rooms === undefined || !call.mayHoldClaim) return;
  call.mayHoldClaim = false;
  call.releasing = services.track(whileAway(services, async () => await rooms.release(claimOf(call))));
}

function claimOf(call: SkillCall): string {
  return `${call.run.execution().id}:${call.path}`;
}
