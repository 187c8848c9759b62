export { clearSections, showSections } from './disclosure/show.ts';
export { guide } from './guide/judge-answer.ts';
export { type OutputFormatOptions, parseOutput, renderOutputFormat, toOutputFormat } from './output/format.ts';
export {
  type ExampleOverride,
  hashOverridden,
  type OverrideDocument,
  type OverridePlace,
  type SectionOverrides,
  type TextOverride,
  type ToolOverrides,
  type ValueOverride,
} from './overrides/document.ts';
export {
  type LoadedOverrides,
  loadOverrides,
  type OverrideOptions,
  type SeededOverrides,
  saveOverrides,
  seedOverrides,
} from './overrides/override.ts';
export type { AppliedOverride, OverrideReport, SkippedOverride } from './overrides/resolve.ts';
export { memoryOverrides, type OverrideRef, type OverrideStore, type OverrideWriteOptions } from './overrides/store.ts';
export { allComplete, anyComplete, filesExist } from './prompt/completion.ts';
export {
  type DeadlineFeedbackOptions,
  deadlineFeedback,
  everyCalls,
  everySeconds,
  fileCreated,
  type StaticFeedbackOptions,
  staticFeedback,
} from './prompt/feedback.ts';
export { createPrompt, type PromptDefinition } from './prompt/prompt.ts';
export type { BindablePrompt, RenderedSections } from './render/types.ts';
export {
  type InputOf,
  type InputOfAll,
  markdownSection,
  markdownSection as section,
  type OutputOf,
  type Section,
  type SectionDefinition,
  type TaskExample,
  type TaskStep,
  type Visibility,
  type VisibilityRule,
} from './section/section.ts';
export type { ToolParamDescription } from './section/tools.ts';
export { visibilitySlice } from './section/visibility.ts';
