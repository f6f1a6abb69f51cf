export { fillMedia, type MappedInput, type MappingFault, mapInput } from './map-input.ts';
