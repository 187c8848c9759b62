import * as arktype from './arktype.ts';
import * as valibot from './valibot.ts';
import * as zod from './zod.ts';
import * as zodMini from './zod-mini.ts';

const programs: ReadonlyMap<string, { readonly run: () => Promise<string> }> = new Map([
  ['zod', zod],
  ['zod-mini', zodMini],
  ['arktype', arktype],
  ['valibot', valibot],
]);

/** Of the programs, one for each schema library. */
export const programNames: readonly string[] = [...programs.keys()];

/** Runs the program named `name`. Returns `ok`, throws when anything in it differs. */
export async function runProgram(name: string | undefined): Promise<string> {
  const program = programs.get(name ?? '');
  if (program === undefined) throw new Error(`unknown program \`${name}\``);
  return program.run();
}
