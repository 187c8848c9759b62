export type { BindablePrompt, RenderedSections } from './bindable-prompt.ts';
export { allComplete, anyComplete, filesExist } from './completion.ts';
export { type ExtractedJson, extractJson } from './extract-json.ts';
export {
  type DeadlineFeedbackOptions,
  deadlineFeedback,
  everyCalls,
  everySeconds,
  fileCreated,
  type StaticFeedbackOptions,
  staticFeedback,
} from './feedback.ts';
export { type OutputFormatOptions, parseOutput, renderOutputFormat, toOutputFormat } from './output-format.ts';
export type {
  ExampleOverride,
  OverrideDocument,
  OverridePlace,
  SectionOverrides,
  TextOverride,
  ToolOverrides,
  ValueOverride,
} from './override-document.ts';
export { hashOverridden } from './override-hash.ts';
export {
  type LoadedOverrides,
  loadOverrides,
  type OverrideOptions,
  type SeededOverrides,
  saveOverrides,
  seedOverrides,
} from './override-prompt.ts';
export type { OverrideRef } from './override-ref.ts';
export type { AppliedOverride, OverrideReport, SkippedOverride } from './override-resolve.ts';
export { memoryOverrides, type OverrideStore, type OverrideWriteOptions } from './override-store.ts';
export { createPrompt, type PromptDefinition } from './prompt.ts';
export {
  type InputOf,
  type InputOfAll,
  markdownSection,
  type OutputOf,
  type Section,
  type SectionDefinition,
  type TaskExample,
  type TaskStep,
  type Visibility,
  type VisibilityRule,
} from './section.ts';
export { clearSections, showSections } from './show-sections.ts';
export type { ToolParamDescription } from './tool-parameters.ts';
export { visibilitySlice } from './visibility.ts';
