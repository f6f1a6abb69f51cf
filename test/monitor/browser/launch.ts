import { existsSync } from 'node:fs';
import chromium, { inflate, setupLambdaEnvironment } from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/**
 * A real browser from the packages alone: the bundled Chromium brings the libraries that a bare server lacks. Closing it
 * ends its processes.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  if (!existsSync('/usr/lib/x86_64-linux-gnu/libnss3.so')) {
    await inflate(new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium')).pathname);
    setupLambdaEnvironment('/tmp/al2023/lib');
  }
  return playwright.launch({
    executablePath,
    headless: true,
    args: chromium.args.filter((flag) => !/single-process|disable-web-security|font-render-hinting/.test(flag)),
  });
}
