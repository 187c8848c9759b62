import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

export { buildPage } from 'holdfast-studio/build';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** True if this machine has the browser that tests of the studio need. */
export const hasChromium: boolean = existsSync(executablePath);

/** Debian's Chromium, or that of `CHROMIUM`. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
