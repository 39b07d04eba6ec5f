export const KEY = "step.started";
export type Handler = (level: Level) => void;
export interface Level { name: string }
