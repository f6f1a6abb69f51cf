import { en } from './words-en.js';
import { zh } from './words-zh.js';

const all = { zh, en };

/** A function from key and values to words. */
export function createWords(language) {
  const words = all[language] ?? zh;
  return (key, values) =>
    (words[key] ?? fallback(key)).replace(/\{(\w+)\}/g, (_, name) => String(values?.[name] ?? ''));
}

/** An unknown status or kind shows itself, without its prefix. */
function fallback(key) {
  return key.replace(/^(status|kind|severity|channel|plan|cost|mark)\./, '');
}
