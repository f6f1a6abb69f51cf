export { normaliseBaseUrl, normaliseChatBaseUrl } from './base-url.ts';
export { callHttp, type HttpAnswer, type HttpCall } from './call.ts';
export { createLiveFetch, type LiveFetch, type LiveFetchOptions } from './live-fetch.ts';
export { parseLosslessJson } from './lossless-json.ts';
export { encodeMultipart } from './multipart.ts';
export { classifyAddress } from './public-address.ts';
export { orAborted, readText } from './read-body.ts';
export { maskText, redactUrl } from './redact.ts';
export { parseHttpDate, parseRetryAfter } from './retry-after.ts';
