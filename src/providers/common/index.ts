export { handleOf, isAboutAnother, parseHandle, type TaskHandle } from './handle.ts';
export { createInlineMedia } from './inline-media.ts';
export { readMediaUrls } from './media-urls.ts';
export { readStatusWord } from './status-words.ts';
export {
  checkFailure,
  createTaskAdapter,
  inputFailure,
  parsePrepared,
  type PollReading,
  type SubmitReading,
  type TaskDialect,
  unhappySubmit,
  vendorModelOf,
} from './task-adapter.ts';
export { readFitting, type Upload, uniqueFileName } from './uploads.ts';
export { mediaVerdict } from './verdict.ts';
export {
  failureOfAnswer,
  firstText,
  isRefusalStatus,
  kindOfStatus,
  readErrorShape,
  type VendorError,
} from './vendor-error.ts';
export { createVendorLine, type VendorLine } from './vendor-line.ts';
export { kindOfWords } from './words.ts';
