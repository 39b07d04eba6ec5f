import { defineAgent } from "eve";
import { mockModel } from "eve/evals";
export default defineAgent({ modelContextWindowTokens: 1000000, model: mockModel("x") });
