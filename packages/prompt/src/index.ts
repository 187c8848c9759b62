export { clearSections, showSections } from './disclosure/show.ts';
export { parseOutput } from './output/format.ts';
export { hashOverridden, type OverrideDocument } from './overrides/document.ts';
export {
  type LoadedOverrides,
  loadOverrides,
  type SeededOverrides,
  saveOverrides,
  seedOverrides,
} from './overrides/override.ts';
export type { OverrideReport } from './overrides/resolve.ts';
export { memoryOverrides, type OverrideStore } from './overrides/store.ts';
export { allComplete, anyComplete, filesExist } from './prompt/completion.ts';
export { deadlineFeedback, everyCalls, everySeconds, fileCreated, staticFeedback } from './prompt/feedback.ts';
export { createPrompt, type PromptDefinition } from './prompt/prompt.ts';
export type { BindablePrompt } from './render/types.ts';
export {
  markdownSection,
  markdownSection as section,
  type Section,
  type SectionDefinition,
  type Visibility,
} from './section/section.ts';
export { visibilitySlice } from './section/visibility.ts';
