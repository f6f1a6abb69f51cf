import type { MediaSource } from '../contract/index.ts';
import type { NodeFunction } from '../engine/ports/index.ts';
import { concatLists, repeatValue, takeItems } from './list/lists.ts';
import { createContactSheet, createCutOut, createPictureCheck, createPrintSize } from './picture/functions.ts';
import type { PictureWorker } from './picture/port.ts';
import { fillShots, readScriptShots } from './script/shots.ts';
import { fillPlaceholders } from './text/fill-placeholders.ts';
import { createRedLines, type RedLineTexts } from './text/red-lines.ts';
import { joinTexts, refuseRun, requireText } from './text/words.ts';

/** What the functions are built with. */
export interface FunctionDeps {
  readonly redLines: RedLineTexts;
  readonly pictures: PictureWorker;
  /** Where files are read and kept: the spool. */
  readonly media: MediaSource;
}

/** Every registered function by the name that a workflow's `function` node uses. */
export function createFunctions(deps: FunctionDeps): ReadonlyMap<string, NodeFunction> {
  return new Map<string, NodeFunction>([
    ['text.red-lines', createRedLines(deps.redLines)],
    ['text.fill-placeholders', fillPlaceholders],
    ['text.join', joinTexts],
    ['text.require', requireText],
    ['flow.refuse', refuseRun],
    ['list.take', takeItems],
    ['list.concat', concatLists],
    ['list.repeat', repeatValue],
    ['script.shots', readScriptShots],
    ['script.fill-shots', fillShots],
    ['picture.contact-sheet', createContactSheet(deps)],
    ['picture.check', createPictureCheck(deps)],
    ['picture.cut-out', createCutOut(deps)],
    ['picture.print-size', createPrintSize(deps)],
  ]);
}
