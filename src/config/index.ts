export type { Environment } from './environment.ts';
export { type ConfigFault, formatFault, sortFaults } from './fault.ts';
export { type ConfigFiles, createDirectoryFiles, createMemoryFiles } from './files.ts';
export { loadConfig, type LoadedConfig, readMode } from './load.ts';
export { readSamples, type SampleRow } from './samples.ts';
export { renderSchemas, writeSchemas } from './schemas.ts';
export { withPromptFrom } from './variants.ts';
