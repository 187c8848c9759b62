export {
  type CommandRule,
  commandRulePattern,
  isAllowedBy,
  matchRule,
  type RuleMatch,
  readCommandRule,
} from './rules/command-rule.ts';
export { type Destructive, findDestructive } from './rules/destructive.ts';
export {
  allowRuleSchema,
  describeRule,
  type FactPolicyOptions,
  type FactRules,
  factPolicy,
  type RuleLines,
} from './rules/fact-policy.ts';
export { type FactMatcher, type FactRule, factRuleSchema, readFactRule } from './rules/fact-rule.ts';
export { type FilePatterns, filePatterns, isFilePattern } from './rules/file-patterns.ts';
export { decide, denyWithoutFacts, type Finding, quote } from './rules/findings.ts';
export { usualSources } from './rules/hosts.ts';
export { keyOf, type SecretPatterns, secretFinder } from './rules/secrets.ts';
export { judgeUnclear, type UnclearRules } from './rules/unclear.ts';
