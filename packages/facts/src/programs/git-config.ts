import { type Field, known, show } from '../script/field.ts';
import type { Call, Runner } from '../script/types.ts';
import { hasOption, readArguments, readRoles } from './arguments.ts';
import { plainCore, plainSettings } from './git-parts.ts';

/** `git -c KEY=VALUE`. */
export function checkSetting(value: Field | undefined, runner: Runner): void {
  const [key = ''] = value?.text.split('=') ?? [];
  if (value?.known === true && (plainSettings.test(key) || plainCore.test(value.text))) return;
  runner.unclear('code', `\`git -c ${show(key)}\` may name a program`);
}

/** `git config`. */
export function runConfig(call: Call, runner: Runner): undefined {
  const given = readArguments(call.words, readRoles('f:write file:write blob:text type:text default:text'));
  const verbs = /^(?:get|list|set|unset|rename-section|remove-section|edit|get-color)$/;
  const [first, ...others] = given.operands;
  const hasVerb = first !== undefined && verbs.test(first.text);
  const operands = hasVerb ? others : given.operands;
  const reads =
    /^(?:get|list)$/.test(hasVerb ? first.text : '') ||
    hasOption(given, 'get get-all get-regexp get-urlmatch l list name-only');
  const [key, value] = operands;
  if (reads || (operands.length === 1 && !hasVerb && !hasOption(given, 'unset unset-all e edit remove-section'))) {
    // Addresses may contain a token.
    const isPlain = key?.known === true && plainSettings.test(key.text);
    if (!isPlain && !/^(?:remote|branch|core|init|user)\b/.test(key?.text ?? '')) readConfigs(call, runner);
    return;
  }
  const file = hasOption(given, 'global')
    ? `${runner.home ?? ''}/.gitconfig`
    : hasOption(given, 'system')
      ? '/etc/gitconfig'
      : `${runner.facts.view.workspace}/.git/config`;
  runner.facts.use('writes', known(file), ['/']);
  if (key?.known !== true || !plainSettings.test(key.text))
    runner.unclear('code', `\`git config ${show(key?.text ?? '')}\` may name a program`);
  if (value?.known === false) runner.unclear('words', 'cannot tell what `git config` sets');
}

function readConfigs(_call: Call, runner: Runner): void {
  runner.facts.use('reads', known(`${runner.facts.view.workspace}/.git/config`), ['/']);
}
