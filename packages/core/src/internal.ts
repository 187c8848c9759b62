export { digestJson, sortKeys, toCanonicalJson } from './basics/canonical-json.ts';
export { checkOptions, type OptionRules } from './basics/check-options.ts';
export { decodeJson } from './basics/decode-json.ts';
export { describeCode, describeThrown, errorsOf, type ReasonedError, toProblem, toReason } from './basics/errors.ts';
export { foldKey, foldPath } from './basics/fold-path.ts';
export {
  type CopiedJson,
  copyJson,
  deepFreeze,
  freezeInput,
  freezeOpen,
  isPlainObject,
  type JsonLimits,
} from './basics/json.ts';
export { forModel } from './basics/model-text.ts';
export { editDistance, nearestNames } from './basics/nearest-names.ts';
export { modelJsonLimits, type ParsedJson, parseJson, type TextLimits } from './basics/parse-json.ts';
export { toPrintable, toPrintableBlock, unprintable } from './basics/printable.ts';
export { ReadOnlyMap, ReadOnlySet } from './basics/read-only.ts';
export { sha256 } from './basics/sha256.ts';
export { hasControl, isOneLine, unicodePattern } from './basics/unicode.ts';
export { within } from './basics/within.ts';
export { readExpansion } from './call/expansion.ts';
export {
  cutMiddle,
  isMaxResultChars,
  isToolResult,
  maxResultCharsOf,
  minResultChars,
  type RecordedOutcome,
  readOutcome,
  renderJson,
  renderPlainly,
  toOutcomeText,
} from './call/result.ts';
export { findRetryProblem, retryDelayMs, toRetry } from './call/retry.ts';
export {
  type EnvironmentProblem,
  type EnvironmentVariable,
  findEnvironmentProblem,
  findVariableProblem,
  toEnvironmentVariables,
} from './call/tool-environment.ts';
export { checkToolName, findToolNameProblem } from './call/tool-name.ts';
export { toModelUsage } from './model/model-usage.ts';
export { isPack } from './plugin/pack.ts';
export { isPlugin } from './plugin/plugin.ts';
export { hasMask } from './state/redactor.ts';
export { isStagedResource } from './state/resource.ts';
export { isResourceDefinition } from './state/resource-definition.ts';
export { isOperation } from './state/slice.ts';
