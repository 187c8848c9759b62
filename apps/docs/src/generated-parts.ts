import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { libraries, repository } from './libraries.ts';

/** The content of `<!-- generated: NAME -->`, made from the repository. */
const parts: ReadonlyMap<string, () => Promise<string>> = new Map([
  ['command-line', describeCommands],
  ['glossary', readGlossary],
  ['packages', listPackages],
]);

/** Fills the generated parts of a page. @throws Error for an unknown part. */
export async function fillParts(page: string): Promise<string> {
  let result = page;
  for (const [marker, name = ''] of page.matchAll(/^<!-- generated: (.+) -->$/gm)) {
    const make = parts.get(name);
    if (make === undefined)
      throw new Error(`Unknown generated part \`${name}\`. Known parts: ${[...parts.keys()].join(', ')}.`);
    const text = await make();
    result = result.replace(marker, () => text);
  }
  return result;
}

/** The help of the program and of each of its commands. */
async function describeCommands(): Promise<string> {
  const main = await askForHelp([]);
  // The list comes in groups with headings.
  const [list = ''] = main.split(/^Examples:$/m);
  const commands = [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
  const helps = await Promise.all(commands.map((name) => askForHelp([name])));
  return [
    toFence(main),
    ...commands.flatMap((name, index) => [`## holdfast ${name}`, toFence(helps[index] ?? '')]),
  ].join('\n\n');
}

async function askForHelp(command: readonly string[]): Promise<string> {
  const program = join(repository, 'apps', 'cli', 'src', 'main.ts');
  const parameters = ['--conditions=holdfast-source', program, ...command, '--help'];
  const environment = { ...process.env, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env: environment });
  return stdout.trim();
}

function toFence(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}

/** The glossary without its title. */
async function readGlossary(): Promise<string> {
  const text = await readFile(join(repository, 'GLOSSARY.md'), 'utf8');
  return text.replace(/^# .*\n+/, '').trim();
}

async function listPackages(): Promise<string> {
  const rows = libraries().map(({ folder, name, description }) => `| [\`${name}\`](./${folder}.md) | ${description} |`);
  return ['| Package | What it is |', '| --- | --- |', ...rows].join('\n');
}
