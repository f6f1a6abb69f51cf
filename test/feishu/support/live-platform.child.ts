import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A platform on a real socket, in a process of its own so that its memory is not counted with the client's: it swallows
// uploads and sends a file of 200 MB; one path breaks off half-way. Tells its port, later what it received.
const mib = 1024 * 1024;
const sizeBytes = 200 * mib;
const block = new Uint8Array(64 * 1024).fill(7);
const received = { bytes: 0, parts: 0, sent: 0 };

const server = createServer((request, response) => {
  const path = request.url ?? '';
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    if (path.includes('/upload_part')) {
      received.bytes += bytes;
      received.parts += 1;
      response.end('{"code":0,"data":{}}');
    } else if (path.includes('/upload_prepare')) {
      const data = { upload_id: 'up', block_size: 4 * mib, block_num: sizeBytes / (4 * mib) };
      response.end(JSON.stringify({ code: 0, data }));
    } else if (path.includes('/upload_finish')) {
      response.end('{"code":0,"data":{"file_token":"boxLive"}}');
    } else if (path.includes('/download')) {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(sizeBytes) });
      const limit = path.includes('boxBroken') ? sizeBytes / 2 : sizeBytes;
      let sent = 0;
      received.sent = 0;
      const push = (): void => {
        while (sent < limit) {
          sent += block.length;
          received.sent += block.length;
          if (!response.write(block)) {
            response.once('drain', push);
            return;
          }
        }
        if (limit < sizeBytes) response.destroy();
        else response.end();
      };
      push();
    } else {
      response.end('{"code":0,"tenant_access_token":"t-live-token-1","expire":7200}');
    }
  });
});

server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => {
  process.send?.(received);
});
