/** One thing that the doctor looked at. The shape of the platform's own diagnoses, with the place it is about. */
export interface Finding {
  /** What was looked at: `credentials`, `columns`, `disk` … */
  readonly check: string;
  /** The agent, vendor or base that it is about; absent for the installation as a whole. */
  readonly of?: string;
  /** `hint`: it works, but not as well as it could. */
  readonly level: 'ok' | 'hint' | 'fault';
  readonly what: string;
  /** What to do; empty when nothing is. */
  readonly advice: string;
}

/** A finding from parts, with the level named by the function. */
export const fine = (check: string, what: string, of?: string): Finding => finding('ok', check, what, '', of);
export const hint = (check: string, what: string, advice: string, of?: string): Finding =>
  finding('hint', check, what, advice, of);
export const fault = (check: string, what: string, advice: string, of?: string): Finding =>
  finding('fault', check, what, advice, of);

function finding(level: Finding['level'], check: string, what: string, advice: string, of?: string): Finding {
  return { check, ...(of === undefined ? {} : { of }), level, what, advice };
}

/** A diagnosis of the platform room, placed. */
export function placed(diagnosis: Omit<Finding, 'of'>, of?: string): Finding {
  const { check, level, what, advice } = diagnosis;
  return finding(level, check, what, advice, of);
}
