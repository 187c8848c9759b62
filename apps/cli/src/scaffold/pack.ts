import { type NewPackage, toConstantName, toPackageFiles } from './package.ts';

/** The files of a pack that is good as it is, and is meant to be changed. By path. */
export function toPackFiles(project: NewPackage): ReadonlyMap<string, string> {
  const constant = toConstantName(project.name);
  return new Map([
    ...toPackageFiles(project, {
      kind: 'pack',
      description: 'Policies for Holdfast: texts stay short, and some tools run once.',
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

/** The options, defaults filled in. */
export interface Options {
  /** Longest text in the arguments of a call. */
  readonly maxCharacters: number;
  /** Tools that run once in a session. */
  readonly once: readonly string[];
}

/** Texts stay short, and some tools run once. Make it yours. */
export const ${constant}: Pack<Options> = definePack<Options>({
  name: '${name}',
  version: '0.1.0', // That of package.json.
  description: 'Texts stay short, and some tools run once.',
  configSchema: v.object({
    maxCharacters: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 10_000),
    once: v.optional(v.array(v.string()), []),
  }),
  presets: {
    recommended: { description: 'No text of more than 10,000 characters.', config: {} },
    strict: { description: 'Short texts, and one mail.', config: { maxCharacters: 1_000, once: ['send_mail'] } },
  },
  // Both rules whatever the options are: what a policy knows is kept in the session by its name.
  policies: ({ maxCharacters, once }) => [shortTexts(maxCharacters), runsOnce(once)],
});

// A rule without a state: it looks at the call alone.
function shortTexts(maxCharacters: number): Policy {
  return definePolicy({
    name: 'short-texts',
    check: ({ tool, input }) =>
      longestText(input) <= maxCharacters
        ? allow
        : deny(\`\\\`\${tool.name}\\\` takes texts of at most \${maxCharacters} characters: say it in fewer.\`),
  });
}

function longestText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longestText));
}

// A rule with a state, which is kept in the session: it rolls back, is saved and is replayed with it.
function runsOnce(names: readonly string[]): Policy {
  return definePolicy({
    name: 'runs-once',
    initialState: [] as readonly string[],
    check: ({ tool }, { state }) =>
      names.includes(tool.name) && state.includes(tool.name)
        ? deny(\`\\\`\${tool.name}\\\` runs once in a session, and has run.\`)
        : allow,
    // Called after every success of every tool.
    onResult: ({ tool }, _result, { state }) => (names.includes(tool.name) ? [...state, tool.name] : state),
  });
}
`;
}

const cases = `import type { PackCases } from '@holdfast/testing';

const mail = (text: string) => ({ tool: 'send_mail', input: { text } });

/** Without a text, none is too long: that call means something else. */
const tooLong = { title: 'too long', answer: 'deny', different: ['missing'] } as const;

/** What each preset has to answer. Every rule has to let something through, and to refuse something. */
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

A policy pack for [Holdfast](https://www.npmjs.com/package/holdfast): texts stay short, and some tools run once.

\`\`\`ts
// holdfast.config.ts
import { defineConfig } from '@holdfast/registry';

export default defineConfig({
  packs: [{ pack: '${packageName}', preset: 'strict' }],
});
\`\`\`

Or by hand: \`createRegistry().use(${constant}, { preset: 'strict' }).policies\`.

| rule | what it does | option |
| --- | --- | --- |
| \`${name}-short-texts\` | denies calls with longer texts | \`maxCharacters\`, 10,000 |
| \`${name}-runs-once\` | lets some tools succeed once in a session | \`once\`, none |

## Working on it

\`\`\`sh
npm install
npm test         # the cases, and what every pack has to hold to
npm run dev      # the same, again after every change
npm run check    # the same as a table, with what a check costs
npm publish      # builds first
\`\`\`
`;
}
