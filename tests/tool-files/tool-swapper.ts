// Swaps the files of a project for others, in every way there is, while it is told to: tests/tool-files/tool-swaps.ts is at the other end.
import { linkSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `go` with the good texts by path, until `stop`. */
export type SwapMessage =
  | { readonly type: 'go'; readonly good: Readonly<Record<string, string>> }
  | { readonly type: 'stop' };

const root = process.argv[2] ?? '';
const evil = 'globalThis.holdfastEvil = (globalThis.holdfastEvil ?? 0) + 1;\n';
let good: readonly (readonly [path: string, text: string])[] = [];
let swaps = 0;

function swap([path, text]: readonly [string, string]): void {
  const place = join(root, path);
  const aside = join(root, 'aside');
  const way = Math.floor(Math.random() * 7);
  try {
    switch (way) {
      case 0:
        writeFileSync(aside, evil + text);
        renameSync(aside, place);
        break;
      case 1:
        writeFileSync(aside, text);
        renameSync(aside, place);
        break;
      case 2:
        rmSync(place, { force: true });
        break;
      case 3:
        writeFileSync(join(root, 'evil.mjs'), evil + text);
        rmSync(place, { force: true });
        symlinkSync(join(root, 'evil.mjs'), place);
        break;
      case 4:
        writeFileSync(join(root, 'evil.mjs'), evil + text);
        rmSync(place, { force: true });
        linkSync(join(root, 'evil.mjs'), place);
        break;
      case 5:
        writeFileSync(place, evil + text);
        utimesSync(place, 1000, 1000);
        break;
      default:
        rmSync(place, { force: true });
        writeFileSync(place, text);
    }
    swaps += 1;
  } catch {
    // The next one may work.
  }
}

function goOn(): void {
  if (good.length === 0) return;
  for (const one of good) if (Math.random() < 0.3) swap(one);
  setImmediate(goOn);
}

process.on('message', (message: SwapMessage) => {
  if (message.type === 'go') {
    good = Object.entries(message.good);
    goOn();
  } else {
    good = [];
    process.send?.(swaps);
  }
});
process.on('disconnect', () => process.exit());
