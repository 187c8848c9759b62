import { fileURLToPath } from 'node:url';
import type { PlaceView } from '@holdfast/core';
import { describeCommand } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { parse } from 'unbash';
import { compare, type Extent, everything, limitRounds, type Subject } from './compare.ts';
import type { Report } from './report.ts';

const operations = 10;
const goalOverNs = 5_000_000;
const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
const view: PlaceView = { folder: root, workspace: root, home: root, disk: nodeDisk() };

const day = [
  'cd packages/core && npm test -- src/call 2>&1 | tail -20',
  'git log --oneline -5 -- README.md && git diff --stat',
  'for f in packages/core/src/*.ts; do wc -l "$f"; done',
  "grep -rn 'describe' packages/facts/src --include='*.ts' | head",
  'x=$(git rev-parse HEAD); echo "$x" > out.txt',
  'find packages -name package.json -maxdepth 2 | xargs grep -l unbash',
  "sed -i 's/a/b/g' out.txt; cat out.txt README.md",
];

function script(length: number): string {
  const lines: string[] = [];
  for (let size = 0, index = 0; size < length; index += 1) {
    // New names each time, so that the disk is read again.
    const line = (day[index % day.length] ?? '').replace('out.txt', `out-${index}.txt`);
    lines.push(line);
    size += line.length + 1;
  }
  return lines
    .join('\n')
    .slice(0, length)
    .replace(/\n[^\n]*$/, '');
}

const texts: readonly (readonly [string, string])[] = [
  ['`ls`', 'ls'],
  ['a line of 56 characters', day[0] ?? ''],
  ['1 kB', script(1_000)],
  ['10 kB', script(10_000)],
  ['10 kB, one word 2,000 times', 'ls '.repeat(3_300)],
  ['10 kB, 2,000 substitutions', '$(a) '.repeat(2_000)],
  ['10 kB, patterns', 'cat packages/*/*.md '.repeat(500)],
];

/** Measures facts of a command by its length, on this repository's disk, against parsing the same text. */
export async function measureFacts(extent: Extent = everything): Promise<Report> {
  const subjects = texts.flatMap(([name, text]): readonly Subject[] => [
    subject(`${name}, parsed`, () => parse(text)),
    { ...subject(name, () => describeCommand(text, view)), against: [{ name: `${name}, parsed`, goalOverNs }] },
  ]);
  const rows = await compare(subjects, limitRounds({ rounds: 40, warmUpRounds: 20 }, extent));
  return { name: 'facts: of a command, by its length', notes: ['parsed: the syntax tree alone, by `unbash`.'], rows };
}

function subject(name: string, run: () => unknown): Subject {
  return {
    name,
    operations,
    prepare: () => () => {
      for (let time = 0; time < operations; time += 1) run();
    },
  };
}
