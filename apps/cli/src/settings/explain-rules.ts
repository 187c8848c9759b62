import { basename, join } from 'node:path';
import type { FactRule } from '@holdfast/facts/rules';
import type { Explanation } from '@holdfast/registry';
import {
  type ConfigOrigin,
  type EffectiveConfig,
  listRules,
  type NamedRules,
  nameRules,
} from '@holdfast/registry/config';
import { readRuleFile } from '@holdfast/registry/rules';
import manifest from '../../package.json' with { type: 'json' };
import type { Host } from '../terminal/host.ts';
import { userFolder } from '../user/folder.ts';

/** A rule and its place. */
export interface ExplainedRule {
  /** E.g. `holdfast.policy.yaml`; absent for rules without a file. */
  readonly file?: string;
  readonly line?: number;
  /** Its answer and key: `deny.reads`. */
  readonly key: string;
  readonly value: string;
  /** In words: "denies calls that read secrets". */
  readonly says: string;
}

/** The policy of the rules of one file, with a row for each. */
export interface ExplainedRules extends Explanation {
  readonly rules: readonly ExplainedRule[];
}

/** The rules of the configuration, one explanation a file. */
export function explainRules({ rules }: Pick<EffectiveConfig, 'rules'>): readonly ExplainedRules[] {
  return nameRules(rules).map((set) => toExplanation(set, 'In force in runs of this folder.'));
}

/**
 * The rules of the user's own file, which the guard applies. Empty if there is none.
 *
 * @throws HoldfastError `config.invalid`.
 */
export async function explainUserRules(host: Host): Promise<readonly ExplainedRules[]> {
  const folder = userFolder(host);
  const found = await readRuleFile(folder, 'user');
  if (found === undefined) return [];
  const { name, rules, lines } = found;
  const origin: ConfigOrigin = { layer: 'host', file: join(folder, name) };
  return [toExplanation({ id: userRules, value: rules, origin, lines }, 'In force in the guard.')];
}

/** The id of the user's rules in the guard. */
export const userRules: string = 'user-rules';

/** True if `name` means these rules: the policy's id, its key, or the file. */
export function meansRules(name: string, { name: id, qualifiedName, provenance: { file } }: Explanation): boolean {
  return name === id || name === qualifiedName || (file !== undefined && (name === file || name === basename(file)));
}

function toExplanation({ id, value, origin, lines }: NamedRules, note: string): ExplainedRules {
  const { file } = origin;
  const places = (['deny', 'ask', 'allow'] as const).flatMap((answer) =>
    (value[answer] ?? []).map((_, index) => lines?.get(`${answer}[${index}]`)),
  );
  const rules = listRules(value).map(({ key, value: meant }, index): ExplainedRule => {
    const line = places[index];
    const where = { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
    return { ...where, key, value: String(meant), says: describe(key, String(meant)) };
  });
  return {
    kind: 'policy',
    name: id,
    qualifiedName: `host/${id}`,
    inForce: true,
    provenance: { plugin: 'configuration', version: manifest.version, ...(file === undefined ? {} : { file }) },
    note,
    rules,
  };
}

const answers: ReadonlyMap<string, string> = new Map([
  ['deny', 'denies calls that'],
  ['ask', 'asks about calls that'],
  ['allow', 'does not ask about calls that'],
]);
const verbs: ReadonlyMap<string, string> = new Map<keyof FactRule, string>([
  ['reads', 'read'],
  ['writes', 'write'],
  ['deletes', 'delete'],
  ['runs', 'run'],
  ['reaches', 'reach'],
  ['sends', 'send data to'],
]);
const classes: ReadonlyMap<string, string> = new Map([
  ['secrets', 'secrets'],
  ['outside', 'files outside the workspace'],
  ['self-running', 'files that other programs run by themselves'],
  ['destructive', 'destructive commands'],
  ['*', 'any host'],
]);

function describe(key: string, value: string): string {
  const [answer = '', verb = ''] = key.split('.');
  const meant = verb === 'runs' && value !== 'destructive' ? undefined : classes.get(value);
  return `${answers.get(answer) ?? answer} ${verbs.get(verb) ?? verb} ${meant ?? `\`${value}\``}`;
}
