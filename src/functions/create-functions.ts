import type { NodeFunction } from '../engine/ports/index.ts';
import { readOutline, writeOutline } from './deck/outline.ts';
import { createDeckFile } from './deck/pptx.ts';
import { chooseEditBase } from './edit/base.ts';
import { createJsonFile } from './json/file.ts';
import { createKnowledgeSearch, type Knowledge } from './knowledge/search.ts';
import type { Spool } from '../media/index.ts';
import { createAiLabel } from './media/ai-label.ts';
import { pickItems } from './list/pick.ts';
import { wholeNumber } from './number/whole.ts';
import { acceptResult, chooseRound, mergeVerdicts } from './quality/accept.ts';
import { writeLines } from './text/lines.ts';
import { concatLists, repeatValue, requireItems, takeItems } from './list/lists.ts';
import { createContactSheet, createCutOut, createPictureCheck, createPrintSize } from './picture/functions.ts';
import type { PictureWorker } from './picture/port.ts';
import { fillShots, readScriptShots } from './script/shots.ts';
import { fillPlaceholders } from './text/fill-placeholders.ts';
import { createRedLines, type RedLineTexts } from './text/red-lines.ts';
import { splitTraffic } from './traffic/split.ts';
import { joinTexts, refuseRun, requireText } from './text/words.ts';

/** What the functions are built with. */
export interface FunctionDeps {
  readonly redLines: RedLineTexts;
  readonly pictures: PictureWorker;
  /** Where files are read and kept: the spool. */
  readonly media: Spool;
  /** Setting `media.ai_label`; absent: none. */
  readonly aiLabel?: 'none' | 'metadata' | 'visible';
  /** The team's own documents; absent: none. */
  readonly knowledge?: Knowledge;
}

/** Every registered function by the name that a workflow's `function` node uses. */
export function createFunctions(deps: FunctionDeps): ReadonlyMap<string, NodeFunction> {
  return new Map<string, NodeFunction>([
    ['text.red-lines', createRedLines(deps.redLines)],
    ['text.fill-placeholders', fillPlaceholders],
    ['text.join', joinTexts],
    ['text.require', requireText],
    ['flow.refuse', refuseRun],
    ['traffic.split', splitTraffic],
    ['list.take', takeItems],
    ['list.concat', concatLists],
    ['list.repeat', repeatValue],
    ['list.require', requireItems],
    ['script.shots', readScriptShots],
    ['script.fill-shots', fillShots],
    ['picture.contact-sheet', createContactSheet(deps)],
    ['picture.check', createPictureCheck(deps)],
    ['picture.cut-out', createCutOut(deps)],
    ['picture.print-size', createPrintSize(deps)],
    ['media.ai-label', createAiLabel({ ...deps, mode: deps.aiLabel ?? 'none' })],
    ['text.lines', writeLines],
    ['number.whole', wholeNumber],
    ['list.pick', pickItems],
    ['quality.merge', mergeVerdicts],
    ['quality.accept', acceptResult],
    ['quality.choose', chooseRound],
    ['edit.base', chooseEditBase],
    ['json.file', createJsonFile(deps.media)],
    ['knowledge.search', createKnowledgeSearch(deps.knowledge ?? (() => Promise.resolve([])))],
    ['outline.write', writeOutline],
    ['outline.read', readOutline],
    ['deck.pptx', createDeckFile(deps.media)],
  ]);
}
