export type {
  Adapter,
  Balance,
  CancelOutcome,
  FindOutcome,
  FittedPicture,
  MediaSource,
  PictureLimits,
  PollOutcome,
  PreparedRequest,
  PrepareCall,
  Provider,
  ProviderAccount,
  ProviderDeps,
  ProviderFactory,
  ProviderTimeouts,
  ReportedCost,
  SubmitOutcome,
} from './adapter.ts';
export {
  type Artifact,
  artifactSchema,
  isArtifact,
  isRemoteMedia,
  type MediaValue,
  type RemoteMedia,
  remoteMediaSchema,
} from './artifact.ts';
export {
  type AnalyzeInput,
  type Capability,
  type CapabilityId,
  type ChatInput,
  capabilities,
  capability,
  type ImageInput,
  isCapabilityId,
  type MediaClass,
  type VideoInput,
} from './capability.ts';
export {
  type AgentDefinition,
  agentSchema,
  type FieldMapping,
  type ModelSettings,
  modelSchema,
  type PriceTable,
  type ProviderDefinition,
  providerSchema,
  providersFileSchema,
  type StageDefinition,
} from './config.ts';
export {
  type Failure,
  type FailureKind,
  type FailureRule,
  failureRule,
  failureTable,
  isFailureKind,
} from './failure.ts';
export { type Settings, settingsSchema } from './settings.ts';
export {
  type ParseDefinition,
  type PromptDefinition,
  promptSchema,
  type SkillDefinition,
  skillSchema,
} from './skill.ts';
export {
  type NodeDefinition,
  type OnFailure,
  type RetryDefinition,
  type WorkflowDefinition,
  workflowSchema,
} from './workflow.ts';
export type { DefinitionFault, Definitions } from './definitions.ts';
