export { offlineModel } from './offline-model.ts';
export { offlinePlanner } from './offline-planner.ts';
