import { defineConnection } from "eve/connections";

export default defineConnection({ url: "https://mcp.linear.app/sse", description: "Issues." });
