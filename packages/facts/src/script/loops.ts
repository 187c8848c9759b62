import type { For, Select, SyntaxNode, While } from 'unbash';
import { expandWord } from './expand.ts';
import { type Field, joinFields, unknownWord } from './field.ts';
import { joinFolders, type ShellState } from './state.ts';
import { assignedIn } from './syntax.ts';
import { nothing, type Result, type Surroundings } from './types.ts';
import { changesPrograms } from './variables.ts';
import type { WalkHost } from './walk-host.ts';

const maxRounds = 64;

interface Around {
  /** Reads what stands in the loop. */
  readonly walk: { node(node: SyntaxNode, state: ShellState, around: Surroundings): Result };
  readonly host: WalkHost;
  readonly around: Surroundings;
}

export function walkWhile({ clause, body }: While, state: ShellState, { walk, host, around }: Around): Result {
  const names = [...assignedIn(clause), ...assignedIn(body)];
  state.forget(names);
  const before = state.clone();
  const folders = state.folders;
  const { facts } = host;
  const { changes } = facts;
  const round = (): void => {
    walk.node(clause, state, { ...around, tested: true });
    walk.node(body, state, around);
  };
  round();
  const isElsewhere = folders?.join() !== state.folders?.join();
  // The second time from wherever the ones before ended.
  if (isElsewhere) state.folders = undefined;
  if (isElsewhere || facts.changes > changes) facts.repeat(round);
  state.join(before);
  state.forget(names);
  return nothing;
}

export function walkFor(node: For | Select, state: ShellState, { walk, host, around }: Around): Result {
  const name = node.name.value;
  if (changesPrograms(name)) host.unclear('environment', `\`${name}\` is set`);
  const words = node.wordlist?.flatMap((word) => expandWord(word, state, host));
  const values: readonly Field[] = node.type === 'For' ? (words ?? [unknownWord]) : [unknownWord];
  const before = state.clone();
  const isLong = values.length > maxRounds;
  // Where what one round sets is seen by the next one.
  state.forget(assignedIn(node.body));
  const rounds: readonly Field[] = isLong ? [joinFields(values)] : values;
  const { facts } = host;
  const { changes } = facts;
  for (const value of rounds) {
    state.variables.set(name, { ...value, splits: false });
    const { folders } = state;
    walk.node(node.body, state, around);
    if (isLong && folders?.join() !== state.folders?.join()) {
      state.folders = undefined;
      walk.node(node.body, state, around);
    }
    // `continue` may stand before a `cd`.
    state.folders = joinFolders(folders, state.folders);
  }
  if (facts.changes > changes) facts.repeat(() => walk.node(node.body, state, around));
  // Each of the values may be the last one, where `break` ends the loop.
  state.join(before);
  state.forget([name]);
  return nothing;
}
