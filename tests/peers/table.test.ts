import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { versions } from './install.ts';
import { listSituations, type Situation } from './kit.ts';
import { findLines, programs, tableFile } from './table.ts';

const lines = readFileSync(tableFile, 'utf8').split('\n');
const cellsOf = (situation: string): readonly string[] =>
  lines
    .find((line) => line.startsWith(`| ${situation} |`))
    ?.slice(2, -2)
    .split(' | ')
    .slice(1) ?? [];

test('the table has the installed versions', () => {
  const header = lines.find((line) => line.startsWith('| |'));
  for (const name of ['ai', '@openai/agents', '@langchain/langgraph', 'langchain', '@mastra/core'] as const)
    expect(header).toContain(versions[name]);
  for (const name of ['@earendil-works/pi-agent-core', '@strands-agents/sdk'] as const)
    expect(header).toContain(versions[name]);
});

test.each(listSituations())('the table has what was seen, and its lines: $name', (situation: Situation) => {
  const cells = cellsOf(situation.name);
  expect(cells).toHaveLength(programs.length);
  for (const [index, program] of programs.entries()) {
    const [, cell, target] = /^\[(held|not held|cannot be asked)\]\((.+)\)$/.exec(cells[index] ?? '') ?? [];
    const found = findLines(program, situation, cell === 'cannot be asked');
    expect(target).toBe(`programs/kit/${program}.mjs#${found}`);
  }
});

test('Holdfast is held to each situation', () => {
  for (const { name } of listSituations()) expect(cellsOf(name)[0]).toMatch(/^\[held\]/);
});
