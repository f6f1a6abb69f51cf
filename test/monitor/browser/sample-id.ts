const pad = (value: number): string => value.toString(16).padStart(12, '0');
export const sampleId = (index: number): string => `019a0000-0000-7000-8000-${pad(index)}`;
