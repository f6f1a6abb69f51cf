export { fillMedia, type MappedInput, type MappingFault, mapInput, type MediaSlot } from './map-input.ts';
