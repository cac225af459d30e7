import { access, constants } from 'node:fs/promises';
import { type Browser, chromium } from 'playwright-core';

export const executablePath = '/usr/bin/chromium';

/** The reason to skip tests in a browser, or false. */
export const noChromium: string | false = await access(executablePath, constants.X_OK).then(
  () => false as const,
  () => `${executablePath} is not installed (Debian: apt-get install chromium)`,
);

/** Starts Debian's Chromium. */
export async function startChromium(t: {
  teardown(action: () => Promise<unknown>): void;
}): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  return browser;
}
