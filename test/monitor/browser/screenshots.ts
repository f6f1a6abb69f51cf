import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { launchBrowser } from './launch.ts';
import { sampleFiles } from './sample.ts';
import { sampleId } from './sample-id.ts';
import { serveStatic } from './static-server.ts';

interface Shot {
  readonly name: string;
  readonly view: string;
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
  readonly language: 'zh-CN' | 'en-GB';
  readonly trouble?: boolean;
  readonly staleMs?: number;
}

const desktop = { width: 1280, height: 860, theme: 'light', language: 'zh-CN' } as const;
const shots: readonly Shot[] = [
  { ...desktop, name: 'monitor-now', view: 'now' },
  { ...desktop, name: 'monitor-trouble', view: 'now', trouble: true },
  { ...desktop, name: 'monitor-stale', view: 'now', staleMs: 600_000, height: 520 },
  { ...desktop, name: 'monitor-execution', view: `execution/${sampleId(1)}` },
  { ...desktop, name: 'monitor-executions', view: 'executions' },
  { ...desktop, name: 'monitor-money', view: 'money', height: 1_000 },
  { ...desktop, name: 'monitor-vendors', view: 'vendors', trouble: true, height: 420 },
  { ...desktop, name: 'monitor-people', view: 'people', height: 420 },
  { ...desktop, name: 'monitor-feishu', view: 'feishu', height: 420 },
  { ...desktop, name: 'monitor-alerts', view: 'alerts', trouble: true },
  { ...desktop, name: 'monitor-dark-en', view: 'now', theme: 'dark', language: 'en-GB', trouble: true },
  { name: 'monitor-phone', view: 'now', width: 390, height: 844, theme: 'light', language: 'zh-CN', trouble: true },
];

/** Makes the pictures of the monitor page for the docs; needs a Chinese font on the machine. */
export async function makeScreenshots(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const server = await serveStatic();
  const browser = await launchBrowser();
  const made: string[] = [];
  try {
    for (const shot of shots) {
      const now = Date.now();
      server.files = sampleFiles(now - (shot.staleMs ?? 0), { trouble: shot.trouble ?? false });
      const context = await browser.newContext({
        viewport: { width: shot.width, height: shot.height },
        colorScheme: shot.theme,
        locale: shot.language,
      });
      const page = await context.newPage();
      await page.goto(`${server.url}#/${shot.view}`);
      await page.waitForSelector('main .card, main .verdict');
      await page.waitForTimeout(700);
      const path = join(folder, `${shot.name}.png`);
      const picture = await page.screenshot({ scale: 'css' });
      await sharp(picture).png({ palette: true, quality: 100, colours: 256, effort: 10 }).toFile(path);
      made.push(path);
      await context.close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
  return made;
}

if (import.meta.main) await makeScreenshots(process.argv[2] ?? 'docs/images');
