import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { launchBrowser } from '../monitor/browser/launch.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

/** What the film may weigh: it stands at the top of the README. */
const mostBytes = 1_500_000;
const view = { width: 1_440, height: 480 };
const filmWidth = 960;
const settings = { GRIDLOOM__POLL__INTERVAL: '300ms', GRIDLOOM__FEISHU__WRITE_SPACING: '100ms' };

interface Frame {
  readonly picture: Buffer;
  readonly ms: number;
}

/** Made by hand and by `npm run docs:table`: the real program on its sandbox, its table in a real browser, one row's way. */
export async function filmTable(path: string): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-film-'));
  const worker = startWorkerProcess({
    ...settings,
    GRIDLOOM_DATA_DIR: join(directory, 'data'),
    GRIDLOOM_MONITOR_DIR: join(directory, 'webmon'),
  });
  const browser = await launchBrowser();
  try {
    await waitUntil(createSystemClock(), () => Promise.resolve(worker.output().includes('open the table')), 50, 30_000);
    const page = await browser.newPage({ viewport: view, reducedMotion: 'reduce', locale: 'zh-CN' });
    page.setDefaultTimeout(60_000);
    await page.goto(/open the table\s+(\S+)/.exec(worker.output())?.[1] ?? '');
    const frames = await play(page);
    await mkdir(dirname(path), { recursive: true });
    await joinFrames(frames, path);
    return (await stat(path)).size;
  } finally {
    await browser.close();
    await worker.kill('SIGTERM');
    await rm(directory, { recursive: true, force: true });
  }
}

/** The first sample row through its three stages. What nobody wants to watch is shortened; nothing is put in. */
async function play(page: Page): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  const show = async (ms: number, settleMs = 300): Promise<void> => {
    await page.waitForTimeout(settleMs);
    frames.push({ picture: await page.screenshot(), ms });
  };
  const row = page.locator('[data-record]').first();
  const cell = (column: string) => row.locator(`[data-column="${column}"]`);
  const look = async (column: string): Promise<void> => {
    await cell(column).scrollIntoViewIfNeeded();
    await page.waitForTimeout(250);
  };
  const type = async (word: string): Promise<void> => {
    await look('产品图');
    await cell('操作').locator('select').selectOption(word);
    await show(1_200, 0);
    await cell('状态').getByText('生成中').waitFor();
    await show(1_200);
  };
  await row.waitFor();
  // Pictures are loaded when they are first drawn.
  await page.screenshot();
  await show(1_500, 1_500);
  await type('提交');
  await cell('状态').getByText('待确认').waitFor();
  await show(2_400);
  await type('通过');
  await cell('状态').getByText('待确认').waitFor();
  await look('视频');
  await show(2_400);
  await type('通过');
  await cell('状态').getByText('完成').waitFor();
  await show(1_500);
  await look('成本(元)');
  await show(2_400);
  await cell('视频').locator('[aria-label^="打开"]').click();
  await page.locator('#viewer video').waitFor();
  for (let still = 0; still < 6; still += 1) {
    await page.waitForTimeout(300);
    await show(still === 5 ? 1_600 : 320);
  }
  return frames;
}

async function joinFrames(frames: readonly Frame[], path: string): Promise<void> {
  const pictures = await Promise.all(
    frames.map(async ({ picture }) => await sharp(picture).resize({ width: filmWidth }).png().toBuffer()),
  );
  await sharp(pictures, { join: { animated: true } })
    .webp({ quality: 72, effort: 5, loop: 0, delay: frames.map(({ ms }) => ms) })
    .toFile(path);
}

if (import.meta.main) {
  const path = process.argv[2] ?? 'docs/images/table.webp';
  const bytes = await filmTable(path);
  process.stdout.write(`${path}: ${Math.round(bytes / 1_000)} kB\n`);
  if (bytes > mostBytes) {
    process.stderr.write(`that is more than ${mostBytes / 1_000} kB\n`);
    process.exitCode = 1;
  }
}
