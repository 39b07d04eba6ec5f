import crm from "@acme/crm";
export default crm({});
