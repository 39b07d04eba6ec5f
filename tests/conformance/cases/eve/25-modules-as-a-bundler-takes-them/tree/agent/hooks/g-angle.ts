export default <any>{ events: { "*"() {} } };
