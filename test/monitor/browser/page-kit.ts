import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './launch.ts';
import type { PageFiles } from './sample.ts';
import { sampleId } from './sample-id.ts';
import { serveStatic, type StaticServer } from './static-server.ts';

export const views = [
  'now',
  'executions',
  `execution/${sampleId(1)}`,
  'money',
  'vendors',
  'people',
  'feishu',
  'alerts',
];

interface OpenOptions {
  readonly width?: number;
  readonly locale?: string;
  readonly theme?: 'light' | 'dark';
}

interface Opened {
  readonly page: Page;
  /** Script errors and console errors, the policy's refusals among them. */
  readonly faults: string[];
}

/** A browser with the page behind a static server; one context at a time. */
export interface PageKit {
  readonly server: StaticServer;
  open(files: PageFiles | undefined, view: string, options?: OpenOptions): Promise<Opened>;
  /** Goes on to another view of an open page, and gives its text. */
  visit(page: Page, view: string): Promise<string>;
  close(): Promise<void>;
}

export async function openPageKit(): Promise<PageKit> {
  const [browser, server] = await Promise.all([launchBrowser(), serveStatic()]);
  let close = (): Promise<void> => Promise.resolve();
  return {
    server,
    open: async (files, view, options) => {
      server.files = files;
      await close();
      const opened = await openPage(browser, `${server.url}#/${view}`, options ?? {});
      close = () => opened.page.context().close();
      return opened;
    },
    visit: async (page, view) => {
      await page.evaluate((hash) => (location.hash = hash), `#/${view}`);
      await page.waitForFunction((name) => document.querySelector(`main > [data-key="${name}"]`), view.split('/')[0]);
      return settled(page);
    },
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

async function openPage(browser: Browser, url: string, options: OpenOptions): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    locale: options.locale ?? 'zh-CN',
    colorScheme: options.theme ?? 'light',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text());
  });
  await page.goto(url);
  await page.waitForSelector('main .card, main .verdict, main .tiles');
  return { page, faults };
}

/** The text of the view, once its module and its files are there. */
export async function settled(page: Page): Promise<string> {
  await page.waitForFunction(() => !/读取中|Loading/.test(document.querySelector('main')?.textContent ?? ''));
  return page.locator('main').innerText();
}
