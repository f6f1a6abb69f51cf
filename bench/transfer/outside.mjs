import { createServer } from 'node:http';

/**
 * The two ends of a transfer in a process of their own, doing as little as they can so that they measure the client: a file
 * host that serves an MP4 of any size, the platform's upload endpoints, which count what they get, and a plain sink.
 */
const mebibyte = 1024 * 1024;
const blockBytes = 4 * mebibyte;
const piece = Buffer.alloc(256 * 1024, 0xa5);

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://outside');
  const answer = (data) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ code: 0, msg: 'success', ...data }));
  };
  const file = /^\/file\/(\d+)\.mp4$/.exec(pathname);
  if (file !== null) {
    serveFile(response, Number(file[1]));
    return;
  }
  drain(request, (body, sizeBytes) => {
    if (pathname.endsWith('/tenant_access_token/internal')) {
      answer({ tenant_access_token: 't-bench', expire: 7200 });
    } else if (pathname.endsWith('/upload_prepare')) {
      const { size } = JSON.parse(body.toString());
      const data = { upload_id: `up-${size}`, block_size: blockBytes, block_num: Math.ceil(size / blockBytes) };
      answer({ data });
    } else if (pathname.endsWith('/upload_all') || pathname.endsWith('/upload_finish')) {
      answer({ data: { file_token: 'boxbench' } });
    } else {
      answer({ data: { bytes: sizeBytes } });
    }
  });
});

/** A head that is an MP4's, one box that spans the rest. */
function serveFile(response, sizeBytes) {
  const head = Buffer.alloc(40);
  head.writeUInt32BE(24, 0);
  head.write('ftypisom\0\0\x02\0isomiso2', 4, 'latin1');
  head.writeUInt32BE(1, 24);
  head.write('free', 28, 'latin1');
  head.writeBigUInt64BE(BigInt(sizeBytes - 24), 32);
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': sizeBytes });
  response.write(head);
  let left = sizeBytes - head.length;
  const go = () => {
    while (left > 0) {
      const next = left < piece.length ? piece.subarray(0, left) : piece;
      left -= next.length;
      if (!response.write(next)) {
        response.once('drain', go);
        return;
      }
    }
    response.end();
  };
  go();
}

/** Small bodies are kept, large ones only counted. */
function drain(request, done) {
  const kept = [];
  let sizeBytes = 0;
  request.on('data', (chunk) => {
    sizeBytes += chunk.length;
    if (sizeBytes < 64 * 1024) kept.push(chunk);
  });
  request.on('end', () => done(Buffer.concat(kept), sizeBytes));
}

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.once('disconnect', () => process.exit(0));
