import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import { describeThrown } from '@holdfast/core';
import { needsTsx } from './import-module.ts';
import { showFile } from './shown-file.ts';

/**
 * What an import threw, behind "cannot be imported": ", at `git.ts:3`: no luck". The place is left out where it is not known: Node.js
 * tells none of a syntax error in JavaScript.
 */
export function describeFailedImport(thrown: unknown, directory: string): string {
  const place = findPlace(thrown, directory);
  const what = describeThrown(thrown);
  return `${place === undefined ? '' : `, at \`${place}\``}: ${what}${findHint(thrown, what, directory)}`;
}

function findHint(thrown: unknown, what: string, directory: string): string {
  if (commonJsProblem.test(what))
    return '. It is taken for CommonJS: let its name end in `.mts` or `.mjs`, or set `"type": "module"` in the package.json';
  return needsTsx(thrown, directory) ? '. To load it all the same, install tsx: `npm install --save-dev tsx`' : '';
}

// What Node.js says of a module that it takes for none.
const commonJsProblem = /^(?:Cannot use import statement outside a module|Unexpected token 'export')$/;

const frame = /^(?: {4}at (?:.* \()?)?(?<path>file:\/\/\/[^()]+?|(?:[A-Za-z]:)?[/\\][^()]*?):(?<line>\d+)(?::\d+)?\)?$/;

/** The topmost place in a file of one's own; else in a package. What lies elsewhere, such as a hook of Node.js, is no place to mend it. */
function findPlace(thrown: unknown, directory: string): string | undefined {
  try {
    const { stack } = types.isNativeError(thrown) ? thrown : {};
    const lines = typeof stack === 'string' ? stack.slice(0, 20_000).split('\n') : [];
    const places = lines.flatMap((text) => {
      const { path, line } = (text.length < 1_000 ? frame.exec(text)?.groups : undefined) ?? {};
      if (path === undefined) return [];
      const shown = showFile(path.startsWith('file:') ? fileURLToPath(path) : path, directory);
      return isAbsolute(shown) ? [] : [`${shown}:${line}`];
    });
    return places.find((place) => !/(?:^|\/)node_modules\//.test(place)) ?? places[0];
  } catch {
    // A stack that cannot be read, or whose paths are none, tells no place. What was thrown is told all the same.
    return undefined;
  }
}
