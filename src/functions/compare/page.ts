import type { Artifact } from '../../contract/index.ts';

/** One version's run on one input. */
interface ComparedRun {
  readonly status: string;
  readonly costCny: string;
  readonly seconds: number;
  /** Output members in order: texts as they are, files as artifacts. */
  readonly outputs: readonly { readonly name: string; readonly text?: string; readonly files?: readonly Artifact[] }[];
  readonly failure?: string;
}

interface Comparison {
  readonly title: string;
  /** Names of the versions, left to right. */
  readonly versions: readonly { readonly name: string; readonly prompt: string }[];
  /** One row an input: what was given, and each version's run. */
  readonly rows: readonly { readonly input: string; readonly runs: readonly ComparedRun[] }[];
}

/**
 * Versions side by side in one page that needs nothing else: pictures and films are inlined as data URLs (`bytesOf`), and
 * everything that a model or a person wrote is escaped.
 */
export async function renderComparison(
  comparison: Comparison,
  bytesOf: (file: Artifact) => Promise<Uint8Array | undefined>,
): Promise<string> {
  const heads = comparison.versions.map((version) => `<th>${escapeHtml(version.name)}</th>`).join('');
  const prompts = comparison.versions
    .map((version) => `<td><details><summary>prompt</summary><pre>${escapeHtml(version.prompt)}</pre></details></td>`)
    .join('');
  const rows: string[] = [];
  for (const row of comparison.rows) {
    const cells = await Promise.all(row.runs.map((run) => renderRun(run, bytesOf)));
    rows.push(
      `<tr><th><pre>${escapeHtml(row.input)}</pre></th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
    );
  }
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(comparison.title)}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'">
<style>${style}</style></head><body><h1>${escapeHtml(comparison.title)}</h1>
<table><thead><tr><th></th>${heads}</tr><tr><th></th>${prompts}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table></body></html>
`;
}

const style =
  'body{font:15px/1.5 system-ui,sans-serif;margin:24px;color:#1f2a44}table{border-collapse:collapse;width:100%}' +
  'th,td{border:1px solid #d5dae5;padding:12px;vertical-align:top;text-align:left}pre{white-space:pre-wrap;margin:0;font:13px/1.5 ui-monospace,monospace}' +
  'img,video{max-width:100%;max-height:520px;display:block;margin:8px 0}.meta{color:#5b6780;font-size:13px}.bad{color:#b3261e}';

async function renderRun(
  run: ComparedRun,
  bytesOf: (file: Artifact) => Promise<Uint8Array | undefined>,
): Promise<string> {
  const meta = `<p class="meta">${escapeHtml(run.status)} · ¥${escapeHtml(run.costCny)} · ${run.seconds.toFixed(1)} s</p>`;
  const failure = run.failure === undefined ? '' : `<p class="bad">${escapeHtml(run.failure)}</p>`;
  const parts: string[] = [];
  for (const output of run.outputs) {
    parts.push(`<h4>${escapeHtml(output.name)}</h4>`);
    if (output.text !== undefined) parts.push(`<pre>${escapeHtml(output.text)}</pre>`);
    for (const file of output.files ?? []) parts.push(renderFile(file, await bytesOf(file)));
  }
  return `${meta}${failure}${parts.join('')}`;
}

function renderFile(file: Artifact, bytes: Uint8Array | undefined): string {
  const name = escapeHtml(file.name);
  if (bytes === undefined) return `<p class="bad">${name} is no longer here</p>`;
  const url = `data:${encodeURI(file.mime)};base64,${Buffer.from(bytes).toString('base64')}`;
  if (file.mime.startsWith('image/')) return `<img alt="${name}" src="${url}">`;
  return file.mime.startsWith('video/')
    ? `<video controls src="${url}"></video>`
    : `<p>${name} (${file.sizeBytes} B)</p>`;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}
