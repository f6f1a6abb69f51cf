import { fail, ok, type Result } from '../kernel/index.ts';

/**
 * A base address: http or https, no trailing slash, no query. A pasted endpoint (`…/chat/completions`) loses its ending:
 * the adapter adds its own paths.
 */
export function readBaseUrl(written: string): Result<string, string> {
  if (!URL.canParse(written)) {
    // A password may stand in front of an `@`; faults are printed.
    const shown = written.replace(/[^/]*@/g, '…@');
    return fail(`"${shown}" is not an address; write it like https://host/path`);
  }
  const url = new URL(written);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return fail('only http and https addresses are taken');
  if (url.username !== '' || url.password !== '') return fail('leave user and password out of the address');
  if (url.search !== '' || url.hash !== '') return fail('leave out everything from "?" or "#" on');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  return ok(`${url.origin}${path}`);
}
