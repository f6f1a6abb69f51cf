/** A UUID as typed, in capitals or with the installation's tag behind it (执行编号: `ID@tag`); undefined for anything else. */
export function idOf(text: string | undefined): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:@.*)?$/.exec((text ?? '').trim().toLowerCase())?.[1];
}
