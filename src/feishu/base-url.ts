/** The SDK puts the base URL before its paths as it is: no slash may end it. */
export function trimmedBaseUrl(baseUrl: string): string {
  return baseUrl.trim().replace(/\/+$/, '');
}
