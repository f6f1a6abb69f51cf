/**
 * The second door of the room: configuration, data directory and store, for commands that read and ask. The first door
 * loads the whole house, which takes a second and a hundred megabytes.
 */
export { modeOfDirectory, readConfiguration, readShipped } from './configuration.ts';
export { type Control, controlAnswers } from './control.ts';
export { type DataDirectory, freeBytesOf, openDataDirectory } from './data-directory.ts';
export { isWorkerRunningIn } from './lock-directory.ts';
export { openStore } from './open-store.ts';
