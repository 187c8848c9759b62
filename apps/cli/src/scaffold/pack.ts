import { type NewPackage, toConstantName, toPackageFiles } from './package.ts';

/** The files of a working pack to start from, by path. */
export function toPackFiles(project: NewPackage): ReadonlyMap<string, string> {
  const constant = toConstantName(project.name);
  return new Map([
    ...toPackageFiles(project, {
      kind: 'pack',
      description: 'Policies for Holdfast: keeps texts short and limits some tools to one run.',
      scripts: { check: 'holdfast pack check .' },
      dependencies: { valibot: '^1.0.0' },
      devDependencies: ['holdfast', '@holdfast/testing'],
    }),
    ['src/index.ts', toSource(project, constant)],
    ['test/cases.ts', cases],
    ['test/pack.test.ts', toTest(constant)],
    ['README.md', toReadme(project, constant)],
  ]);
}

function toSource({ name }: NewPackage, constant: string): string {
  return `import { allow, definePack, definePolicy, deny, type Pack, type Policy } from '@holdfast/core';
import * as v from 'valibot';

/** The options, with defaults applied. */
export interface Options {
  /** Maximum length of a text in the arguments of a call. */
  readonly maxCharacters: number;
  /** Tools that may run once per session. */
  readonly once: readonly string[];
}

/** Keeps texts short and limits some tools to one run. Replace with your own policies. */
export const ${constant}: Pack<Options> = definePack<Options>({
  name: '${name}',
  version: '0.1.0', // Same as in package.json.
  description: 'Keeps texts short and limits some tools to one run.',
  configSchema: v.object({
    maxCharacters: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 10_000),
    once: v.optional(v.array(v.string()), []),
  }),
  presets: {
    recommended: { description: 'Texts of at most 10,000 characters.', config: {} },
    strict: { description: 'Short texts and one mail.', config: { maxCharacters: 1_000, once: ['send_mail'] } },
  },
  // Always both rules: the session stores a policy's state under its name.
  policies: ({ maxCharacters, once }) => [shortTexts(maxCharacters), runsOnce(once)],
});

// A rule without state: it only looks at the call.
function shortTexts(maxCharacters: number): Policy {
  return definePolicy({
    name: 'short-texts',
    check: ({ tool, input }) =>
      longestText(input) <= maxCharacters
        ? allow
        : deny(\`\\\`\${tool.name}\\\` takes texts of at most \${maxCharacters} characters: shorten the text.\`),
  });
}

function longestText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longestText));
}

// A rule with state, which is part of the session: it is saved, rolled back and replayed with it.
function runsOnce(names: readonly string[]): Policy {
  return definePolicy({
    name: 'runs-once',
    initialState: [] as readonly string[],
    check: ({ tool }, { state }) =>
      names.includes(tool.name) && state.includes(tool.name)
        ? deny(\`\\\`\${tool.name}\\\` may run once per session, and has already run.\`)
        : allow,
    // Called after every success of every tool.
    onResult: ({ tool }, _result, { state }) => (names.includes(tool.name) ? [...state, tool.name] : state),
  });
}
`;
}

const cases = `import type { PackCases } from '@holdfast/testing';

const mail = (text: string) => ({ tool: 'send_mail', input: { text } });

/** Without a text nothing is too long, so the argument must be present. */
const tooLong = { title: 'too long', answer: 'deny', different: ['missing'] } as const;

/** The expected answers of each preset. Every rule must allow something and refuse something. */
export const cases: PackCases = {
  presets: {
    recommended: {
      cases: [
        { call: mail('Hello.'), answer: 'allow' },
        { ...tooLong, call: mail('x'.repeat(10_001)), reason: '10000' },
        { title: 'a second mail', after: [mail('Hello.')], call: mail('And again.'), answer: 'allow' },
      ],
    },
    strict: {
      cases: [
        { call: mail('Hello.'), answer: 'allow' },
        { ...tooLong, call: mail('x'.repeat(1_001)) },
        { title: 'a second mail', after: [mail('Hello.')], call: mail('And again.'), answer: 'deny', reason: 'once' },
        { title: 'the first one failed', after: [{ ...mail('Hello.'), outcome: 'failed' }], call: mail('Now.'), answer: 'allow' },
      ],
    },
  },
};
`;

function toTest(constant: string): string {
  return `import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { packTester } from '@holdfast/testing';
import { ${constant} } from '../src/index.ts';
import { cases } from './cases.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
for (const { name, skipped, run } of packTester(${constant}, cases, { manifest })) {
  test(name, { skip: skipped ?? false }, run);
}
`;
}

function toReadme({ packageName, name }: NewPackage, constant: string): string {
  return `# ${packageName}

A policy pack for [Holdfast](https://www.npmjs.com/package/holdfast): keeps texts short and limits some tools to one run.

\`\`\`ts
// holdfast.config.ts
import { defineConfig } from '@holdfast/registry';

export default defineConfig({
  packs: [{ pack: '${packageName}', preset: 'strict' }],
});
\`\`\`

Or in code: \`createRegistry().use(${constant}, { preset: 'strict' }).policies\`.

| rule | what it does | option |
| --- | --- | --- |
| \`${name}-short-texts\` | denies calls with longer texts | \`maxCharacters\`, 10,000 |
| \`${name}-runs-once\` | lets some tools succeed once per session | \`once\`, none |

## Working on it

\`\`\`sh
npm install
npm test         # the cases and the checks for every pack
npm run dev      # the same after every change
npm run check    # the same as a table, with the cost per check
npm publish      # builds first
\`\`\`
`;
}
