import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string().min(1), unit: z.enum(["C", "F"]).default("C").optional() }),
  async execute({ city }) {
    return { city, temperature: 21 };
  },
});
