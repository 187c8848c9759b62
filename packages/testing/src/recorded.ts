export { type ComparedCall, type ComparePoliciesOptions, comparePolicies, type Verdict } from './recorded/compare.ts';
export { listObserved, type ObservedDecision, type ObservedPolicy } from './recorded/observed.ts';
