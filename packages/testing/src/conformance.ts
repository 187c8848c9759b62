export {
  type ModelConformanceOptions,
  type ModelUnderTest,
  modelConformance,
  type ProviderReply,
} from './conformance/model.ts';
export { type StoreConformanceOptions, storeConformance } from './conformance/store.ts';
