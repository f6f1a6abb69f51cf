export { normaliseBaseUrl, normaliseChatBaseUrl } from './base-url.ts';
export { callHttp, type HttpAnswer, type HttpCall, type HttpCaller } from './call.ts';
export { createLiveFetch, type LiveFetch, type LiveFetchOptions } from './live-fetch.ts';
export { parseLosslessJson } from './lossless-json.ts';
export { encodeMultipart, type FormPart } from './multipart.ts';
export { type AddressClass, classifyAddress } from './public-address.ts';
export { BodyTooLargeError, orAborted, readText } from './read-body.ts';
export { maskText, redactUrl } from './redact.ts';
export { parseRetryAfter } from './retry-after.ts';
