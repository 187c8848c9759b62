export { type RuleFile, readRuleFile } from './open/policy-file.ts';
