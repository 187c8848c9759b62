import { show } from '../script/field.ts';
import type { Call, Handler, Runner } from '../script/types.ts';
import { cloudPrograms } from './clouds.ts';
import { containerPrograms } from './containers.ts';
import { filePrograms, inertPrograms } from './file-programs.ts';
import { runFind } from './find.ts';
import { runGit } from './git.ts';
import { interpreterPrograms } from './interpreters.ts';
import { networkPrograms } from './network.ts';
import { packagePrograms } from './packages.ts';
import type { Shape } from './shape.ts';
import { textPrograms } from './text-programs.ts';
import { toolPrograms } from './tools.ts';
import { wrapperPrograms } from './wrappers.ts';

const inert: Shape = { operands: 'text*' };

// Shells with other languages.
const otherShells = ['powershell', 'pwsh', 'cmd', 'fish', 'csh', 'tcsh', 'nu', 'xonsh', 'elvish', 'wsl'];

function runOtherShell({ program }: Call, runner: Runner): undefined {
  runner.unclear('code', `\`${show(program)}\` is an unsupported shell`);
}

function printEnvironment({ program }: Call, runner: Runner): undefined {
  runner.unclear('words', `\`${program}\` prints the environment`);
}

/** Keyed by the folded program name. */
export const programs: ReadonlyMap<string, Handler | Shape> = new Map<string, Handler | Shape>([
  ...toolPrograms,
  ...inertPrograms.map((name) => [name, inert] as const),
  ...Object.entries(filePrograms),
  ...wrapperPrograms,
  ...interpreterPrograms,
  ...textPrograms,
  ...networkPrograms,
  ...packagePrograms,
  ...cloudPrograms,
  ...containerPrograms,
  ...otherShells.map((name) => [name, runOtherShell] as const),
  ['find', runFind],
  ['git', runGit],
  ['printenv', printEnvironment],
]);
