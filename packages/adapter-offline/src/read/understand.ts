import type { JsonObject } from '@holdfast/core';
import { type Clause, readClauses, readWriteClause, textOf } from '../words/clauses.ts';
import { type ToolWords, verbsOf } from '../words/tool-words.ts';
import { isSameVerb, isWriting } from '../words/verbs.ts';
import { stemOf } from '../words/words.ts';
import { type Match, type Matched, matchClause } from './match.ts';
import { describeUnread } from './unread.ts';

/** A request that is one call, with a file for its result where it says so. */
export interface Understood {
  readonly type: 'clear';
  readonly clause: Clause;
  readonly match: Match;
  readonly save: Save | undefined;
}

/** A request that may mean several things, or nothing that the tools do: why, for a person, and the tools that come near. */
export interface Unclear {
  readonly type: 'unclear';
  readonly why: string;
  readonly clauses: readonly Clause[];
  readonly near: readonly ToolWords[];
}

/** "… and write them to FILE": the call that stores a text, all but the text. */
export interface Save {
  readonly name: string;
  readonly path: string;
  arguments(content: string): JsonObject;
}

/** Reads a request as one clause, or as one and "write it to FILE". */
export function understand(request: string, tools: readonly ToolWords[]): Understood | Unclear {
  const unread = describeUnread(request);
  const clauses = unread !== undefined ? [] : readClauses(request, verbsOf(tools));
  const unclear = (why: string, near: readonly ToolWords[] = []): Unclear => ({ type: 'unclear', why, clauses, near });
  const [clause, second] = clauses;
  if (clause === undefined) return unclear(unread ?? 'The request names nothing that I could do.');
  const path = second === undefined ? undefined : readWriteClause(second, clause);
  if (clauses.length > (path === undefined ? 1 : 2)) {
    const said = clauses.slice(0, 5).map((each) => quote(textOf(each)));
    const advice = 'I do one, and write what it gives to a file if you add "and write it to FILE".';
    return unclear(`You ask for several things: ${said.join(', ')}. ${advice}`);
  }
  const matched = matchClause(clause, tools);
  if (matched.type !== 'matched') return unclear(explainUnclear(matched), matched.near);
  const writers = path === undefined ? [undefined] : findWriters(tools, path);
  if (writers.length === 1) return { type: 'clear', clause, match: matched.match, save: writers[0] };
  return unclear(`${writers.length === 0 ? 'No tool here writes' : 'Several tools here write'} a text to \`${path}\`.`);
}

/** The tools that store a text under a path and need nothing else. Those that say "file" in their name come before others. */
function findWriters(tools: readonly ToolWords[], path: string): readonly Save[] {
  const found = tools.flatMap(({ tool: { name }, parameters, verbs: { lead }, nameStems }) => {
    const required = parameters.filter(({ isRequired }) => isRequired);
    const target = required.find(({ kind }) => kind === 'path');
    const content = required.find(({ kind }) => kind === 'text');
    const writes = isWriting(lead) || isSameVerb(lead, stemOf('create'));
    if (!writes || target === undefined || content === undefined || required.length !== 2) return [];
    const save = { name, path, arguments: (text: string) => ({ [target.name]: path, [content.name]: text }) };
    return [{ save, isFile: nameStems.includes(stemOf('file')) }];
  });
  const files = found.filter(({ isFile }) => isFile);
  return (files.length > 0 ? files : found).map(({ save }) => save);
}

/** Why a clause is no call, for a person. */
export function explainUnclear(matched: Exclude<Matched, { readonly type: 'matched' }>): string {
  const names = matched.near.map(({ tool }) => `\`${tool.name}\``);
  switch (matched.type) {
    case 'missing': {
      const said = matched.missing.map(
        ({ name, description }) => `\`${name}\`${description && ` (${description.slice(0, 100)})`}`,
      );
      if (said.length === 0) return `${names[0]} takes nothing of what came before.`;
      return `${names[0]} needs ${said.join(' and ')}, which the request does not say.`;
    }
    case 'tie':
      return `Several tools fit: ${names.join(', ')}. Say "use NAME to …" for the one that you mean.`;
    case 'none': {
      const words = matched.words.slice(0, 6).map(quote).join(', ');
      if (words === '') return 'The request does not say what it is about, or how much of it is meant.';
      return `${names.length === 0 ? 'No tool here is for that: I' : 'I'} do not know what to do with ${words}.`;
    }
    default:
      return matched satisfies never;
  }
}

function quote(text: string): string {
  return `"${text.slice(0, 80).replaceAll('"', '')}${text.length > 80 ? '…' : ''}"`;
}
