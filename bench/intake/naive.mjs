import { randomInt } from '../../src/kernel/index.ts';
import { sandboxAppToken, sandboxCredentials } from '../../src/sandbox/index.ts';

/**
 * The naive worker of the founding notes (seed 002) against the same table: a search every 30 s for 操作 not empty, each
 * cell written by a call of its own, a picture or film uploaded and then put into its cell. It is spared everything that
 * would make it dearer: it never looks for orphans, never reads a row again, never meets a conflict, and its vendors take
 * just as long as the product's.
 */
export function startNaive({ clock, sandbox, fetch, origin, tableId, luck }) {
  const random = luck(6);
  const root = `${origin}/feishu/open-apis`;
  const records = `${root}/bitable/v1/apps/${sandboxAppToken}/tables/${tableId}/records`;
  const paid = [];
  let token = { text: '', untilMs: 0 };
  let last = Promise.resolve();

  const sleep = (delayMs) => new Promise((resolve) => clock.after(delayMs, resolve));
  const post = async (url, body, headers = {}, method = 'POST') => {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      purpose: 'api',
    });
    const answer = await response.json();
    if (answer.code !== 0) throw new Error(`the naive worker was refused: ${JSON.stringify(answer)}`);
    return answer;
  };
  const call = async (url, body, headers, method) => {
    if (clock.nowMs() >= token.untilMs) {
      const { appId, appSecret } = sandboxCredentials;
      const answer = await post(`${root}/auth/v3/tenant_access_token/internal`, {
        app_id: appId,
        app_secret: appSecret,
      });
      token = { text: answer.tenant_access_token, untilMs: clock.nowMs() + (answer.expire - 180) * 1_000 };
    }
    return await post(url, body, { authorization: `Bearer ${token.text}`, ...headers }, method);
  };
  /** One after the other: even a naive worker learns of write conflicts on its first day. */
  const inTurn = (work) => {
    last = last.then(work);
    return last;
  };
  const write = (recordId, fields) => inTurn(() => call(`${records}/${recordId}`, { fields }, {}, 'PUT'));
  const upload = (name) =>
    inTurn(async () => {
      const boundary = `naive-${randomInt(random, 1_000_000_000)}`;
      const fields = { file_name: name, parent_type: 'bitable_file', parent_node: sandboxAppToken, size: '4' };
      const parts = Object.entries(fields).map(
        ([key, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`,
      );
      const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\ndata\r\n`;
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      return await call(`${root}/drive/v1/medias/upload_all`, `${parts.join('')}${file}--${boundary}--\r\n`, headers);
    });
  const draw = (span) => span.fromMs + randomInt(random, span.toMs - span.fromMs);
  const runStage = async (recordId, done) => {
    const { latencies } = sandbox.controls;
    await write(recordId, { 操作: null });
    await write(recordId, { 状态: '生成中' });
    if (done === 0) await sleep(draw(latencies.feishuMediaMs));
    paid.push(clock.monotonicMs());
    await sleep(draw(latencies.chatMs));
    await sleep(draw(done === 2 ? latencies.videoTaskMs : latencies.imageTaskMs));
    const column = ['上身图', '分镜图', '视频'][done];
    const uploaded = await upload(done === 2 ? 'film.mp4' : 'picture.png');
    await write(recordId, { [column]: [{ file_token: uploaded.data.file_token }] });
    if (done === 0) {
      await write(recordId, { 脚本方案: '镜头一' });
      await write(recordId, { 一致性关键词: 'linen dress' });
    }
    await write(recordId, { '成本(元)': done + 1 });
    await write(recordId, { 状态: done === 2 ? '完成' : '待确认' });
    await call(`${root}/im/v1/messages?receive_id_type=chat_id`, {
      receive_id: 'oc_sandbox_alerts',
      msg_type: 'text',
      content: JSON.stringify({ text: `${recordId} ${column}` }),
    });
  };
  const tick = async () => {
    const filter = { conjunction: 'and', conditions: [{ field_name: '操作', operator: 'isNotEmpty', value: [] }] };
    const found = await call(`${records}/search?page_size=500`, { filter });
    for (const { record_id: recordId, fields } of found.data.items ?? []) {
      const done = fields['分镜图'] === undefined ? (fields['上身图'] === undefined ? 0 : 1) : 2;
      // What is wrong stops the benchmark.
      void runStage(recordId, done);
    }
  };
  const loop = async () => {
    for (;;) {
      await tick();
      await sleep(30_000);
    }
  };
  void loop();
  return { paid };
}
